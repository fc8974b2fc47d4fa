using System.Buffers;
using Microsoft.AspNetCore.Connections;

namespace Esb.Endpoints.Http.Listening;

/// <summary>The memory of listeners for receiving and sending, in blocks of one size. Thread-safe.</summary>
/// <remarks>The server's own blocks have 4 KiB, so a body of 100 KiB takes 25 reads and as many writes. A connection holds a block only
/// while it has data. Up to <see cref="MaxIdleBlocks"/> idle blocks are kept; the last one returned is reused first, because the processor
/// still has it in its cache.</remarks>
internal sealed class ListenerMemory : MemoryPool<byte>, IMemoryPoolFactory<byte>
{
    public const int BlockBytes = 64 * 1024;
    public const int MaxIdleBlocks = 512;

    private readonly Lock _gate = new();
    private readonly Stack<Block> _idle = new();

    public override int MaxBufferSize => BlockBytes;

    // Each connection may dispose its pool; the blocks are shared by all.
    public MemoryPool<byte> Create(MemoryPoolOptions? options = null) => this;

    public override IMemoryOwner<byte> Rent(int minBufferSize = -1)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(minBufferSize, BlockBytes);
        lock (_gate)
        {
            if (_idle.TryPop(out var block))
                return block;
        }

        return new Block(this);
    }

    protected override void Dispose(bool disposing)
    {
        // the garbage collector frees the blocks after the listener is gone
    }

    private void Return(Block block)
    {
        lock (_gate)
        {
            if (_idle.Count < MaxIdleBlocks)
                _idle.Push(block);
        }
    }

    // Pinned once; otherwise the socket would pin it for each read and write.
    private sealed class Block(ListenerMemory memory) : IMemoryOwner<byte>
    {
        public Memory<byte> Memory { get; } = GC.AllocateUninitializedArray<byte>(BlockBytes, pinned: true);

        public void Dispose() => memory.Return(this);
    }
}
