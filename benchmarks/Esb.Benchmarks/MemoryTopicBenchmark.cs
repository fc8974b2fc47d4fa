using System.Threading.Channels;
using BenchmarkDotNet.Attributes;
using Esb.Configuration;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Topics.Memory;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Benchmarks;

/// <summary>A message through a topic in memory, until its subscriber has settled it, beside one through a channel of .NET.</summary>
[MemoryDiagnoser]
public class MemoryTopicBenchmark
{
    private readonly Channel<TaskCompletionSource> _channel = Channel.CreateBounded<TaskCompletionSource>(64);
    private readonly MemoryTransport _transport = new(new LimitsConfig(), TimeProvider.System, NullLogger<MemoryTransport>.Instance);
    private readonly EsbMessage _message = EsbMessage.Create(MessageBody.FromBytes(new byte[1_024]), TimeProvider.System) with
    {
        Subject = "orders.accepted",
    };

    private Task _reader = Task.CompletedTask;
    private ITopicSubscription _subscription = null!;

    [GlobalSetup]
    public async Task SubscribeAsync()
    {
        _reader = ReadAsync();
        var subscription = new Subscription(
            "orders-db",
            [new SubjectPattern("orders.#")],
            1,
            32,
            SingleActive: false,
            new QueueConfig(),
            []
        );
        _subscription = await _transport.SubscribeAsync(
            subscription,
            static (_, _) => ValueTask.FromResult(Settlement.Done),
            CancellationToken.None
        );
    }

    [GlobalCleanup]
    public async Task UnsubscribeAsync()
    {
        _channel.Writer.Complete();
        await _reader;
        await _subscription.DisposeAsync();
        await _transport.DisposeAsync();
    }

    [Benchmark(Baseline = true)]
    public async Task PlainChannel()
    {
        var settled = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await _channel.Writer.WriteAsync(settled);
        await settled.Task;
    }

    [Benchmark]
    public async Task Topic()
    {
        var result = await _transport.PublishAsync(_message, CancellationToken.None);
        await result.Settled;
    }

    private async Task ReadAsync()
    {
        await foreach (var settled in _channel.Reader.ReadAllAsync())
            settled.SetResult();
    }
}
