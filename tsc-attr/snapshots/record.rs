#[cycles(record = request.path())]
fn handle(request: &Request) -> Response {
    request.answer()
}
