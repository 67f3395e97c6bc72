use tsc_runtime::cycles;

struct Server;

#[cycles(record = id)]
impl Server {
    fn handle(&self, id: u32) -> u32 {
        id
    }
}

fn main() {
    Server.handle(1);
}
