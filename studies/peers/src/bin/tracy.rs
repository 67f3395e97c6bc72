//! tracy-client: `span!`. It sends everything to Tracy's server. Here there is no server, so it keeps everything and reports nothing.

use peers::{Contestant, Readings};
use tracy_client::Client;

macro_rules! scope {
    ($name:literal) => {
        let _span = tracy_client::span!($name);
    };
}

peers::annotate!(scope);

struct Tracy {
    _client: Client,
}

impl Contestant for Tracy {
    fn start() -> Self {
        Self {
            _client: Client::start(),
        }
    }

    fn report(self) -> Readings {
        Readings::default()
    }
}

fn main() {
    peers::run::<Tracy>(&FUNCTIONS);
}
