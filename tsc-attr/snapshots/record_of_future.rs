#[cycles(record = move || id)]
async fn handle(id: u64) -> Response {
    answer(id).await
}
