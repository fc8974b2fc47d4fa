using System.Buffers;
using Microsoft.AspNetCore.Connections;

namespace Esb.Endpoints.Http.Listening;

/// <summary>The memory that listeners receive into and send from, in blocks of one size. Thread-safe.</summary>
/// <remarks>Those of the server have 4 KiB, which makes 25 reads of a body of 100 KiB, and as many writes behind them. A connection has a block only while it has data. What is not in use stays here, up to <see cref="MaxIdleBlocks"/>; the block that came back last is the next to go, as the processor still has it in its cache.</remarks>
internal sealed class ListenerMemory : MemoryPool<byte>, IMemoryPoolFactory<byte>
{
    public const int BlockBytes = 64 * 1024;
    public const int MaxIdleBlocks = 512;

    private readonly Lock _gate = new();
    private readonly Stack<Block> _idle = new();

    public override int MaxBufferSize => BlockBytes;

    // Each connection may dispose what it was given; the blocks are shared by all.
    public MemoryPool<byte> Create(MemoryPoolOptions? options = null) => this;

    public override IMemoryOwner<byte> Rent(int minBufferSize = -1)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(minBufferSize, BlockBytes);
        lock (_gate)
        {
            if (_idle.TryPop(out var block)) return block;
        }

        return new Block(this);
    }

    protected override void Dispose(bool disposing)
    {
        // the collector has them when the listener is gone
    }

    private void Return(Block block)
    {
        lock (_gate)
        {
            if (_idle.Count < MaxIdleBlocks) _idle.Push(block);
        }
    }

    // Pinned, as the socket would pin it for each read and write otherwise.
    private sealed class Block(ListenerMemory memory) : IMemoryOwner<byte>
    {
        public Memory<byte> Memory { get; } = GC.AllocateUninitializedArray<byte>(BlockBytes, pinned: true);

        public void Dispose() => memory.Return(this);
    }
}
