#[cycles]
fn fetch<'a>(&'a self) -> Pin<Box<dyn Future<Output = u32> + Send + 'a>> {
    let this = self;
    Box::pin(async move { this.get().await })
}
