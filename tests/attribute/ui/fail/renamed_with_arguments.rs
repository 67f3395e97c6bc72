use tsc_runtime::cycles as measured;

#[tsc_runtime::cycles]
mod m {
    use super::measured;

    #[measured(name = "own")]
    fn function() {}

    #[measured(skip)]
    fn skipped() {}

    #[measured(fence = "none")]
    impl super::Type {
        fn method(&self) {}
    }
}

struct Type;

#[measured]
#[measured(name = "second")]
fn twice() {}

fn main() {}
