use tsc_runtime::cycles_block;

async fn fetch() -> u32 {
    cycles_block!("fetch", light, { std::future::ready(1).await });
    cycles_block!("fetch", { Some(()).map(|()| 2).unwrap_or(std::future::ready(3).await) })
}

async fn nested() -> u32 {
    let later = cycles_block!("made", {
        let block = async { std::future::ready(4).await };
        let closure = async |of: u32| std::future::ready(of).await;
        async fn function() -> u32 {
            std::future::ready(5).await
        }
        async move { block.await + closure(6).await + function().await }
    });
    later.await
}

fn main() {
    drop((fetch(), nested()));
}
