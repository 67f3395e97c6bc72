#[cycles]
trait Shape {
    fn area(&self) -> f64;

    fn double(&self) -> f64 {
        self.area() * 2.0
    }
}
