#[cycles(name = "stack")]
impl<T> Stack<T> {
    const EMPTY: usize = { 0 };

    const fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn push(&mut self, value: T) {
        self.0.push(value)
    }

    #[cycles(skip)]
    fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    #[cycles(fence = "mfence")]
    #[inline]
    #[must_use]
    fn top(&self) -> Option<&T> {
        self.0.last()
    }
}
