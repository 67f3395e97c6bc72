#[cycles]
mod unit_and_never {
    fn unit(text: &str) {
        println!("{text}");
    }

    fn never() -> ! {
        loop {}
    }

    fn hidden() -> Result<impl Iterator<Item = u32>, String> {
        Ok(0..3)
    }

    fn reference(text: &String) -> &str {
        &text[1..]
    }
}
