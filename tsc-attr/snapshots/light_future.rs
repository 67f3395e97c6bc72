#[cycles(light)]
async fn fetch(url: String) -> usize {
    get(&url).await
}
