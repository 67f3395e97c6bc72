use tsc_runtime::cycles;

#[cycles]
#[unsafe(naked)]
extern "C" fn seven() -> u32 {
    core::arch::naked_asm!("mov eax, 7", "ret")
}

fn main() {
    seven();
}
