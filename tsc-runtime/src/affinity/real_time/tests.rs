use super::*;

#[test]
fn class_is_real_time_while_the_guard_lives_or_refused_with_a_reason() {
    std::thread::spawn(|| {
        let before = imp::class().unwrap();
        assert!(!imp::is_real_time(&before), "{before:?}");
        match real_time() {
            Ok(guard) => {
                assert!(imp::is_real_time(&imp::class().unwrap()));
                let child = std::thread::spawn(|| imp::class().unwrap());
                let child = child.join().unwrap();
                // On Windows, the thread's priority is not inherited, but the process' class is every thread's.
                assert!(!imp::is_real_time(&child), "{child:?}");
                drop(guard);
            }
            Err(AffinityError::OneCpu) => {}
            Err(error) => assert!(error.to_string().contains("it needs"), "{error}"),
        }
        assert!(!imp::is_real_time(&imp::class().unwrap()));
    })
    .join()
    .unwrap();
}
