using System.Threading.Channels;
using Esb.Core.Brokers;

namespace Esb.Tests.Endpoints.Brokers;

/// <summary>A broker with one queue in memory, which obeys verdicts as the real one does. Thread-safe.</summary>
internal sealed class FakeBroker : IBrokers
{
    private static readonly TimeSpan LookPause = TimeSpan.FromMilliseconds(5);

    private readonly Channel<Waiting> _queue = Channel.CreateUnbounded<Waiting>();

    public FakePublisher Publisher { get; } = new();

    public IBrokerPublisher CreatePublisher(IBrokerSettings settings, string endpoint, BrokerLayout layout) => Publisher;

    public IBrokerReader CreateReader(IBrokerSettings settings, BrokerReading reading) => new Reader(this, reading);

    public bool IsOurs(string name) => name.StartsWith("esb.", StringComparison.Ordinal);

    /// <summary>Puts a message into the queue, and waits until it is acknowledged.</summary>
    public async Task SendAsync(BrokerMessage message, CancellationToken cancellationToken)
    {
        var waiting = new Waiting(new QueueDelivery(message, IsRedelivered: false));
        _queue.Writer.TryWrite(waiting);
        await waiting.Acknowledged.Task.WaitAsync(cancellationToken);
    }

    private sealed record Waiting(QueueDelivery Delivery)
    {
        public TaskCompletionSource Acknowledged { get; init; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }

    private sealed class Reader(FakeBroker broker, BrokerReading reading) : IBrokerReader
    {
        private readonly CancellationTokenSource _stopping = new();
        private readonly CancellationTokenSource _aborting = new();
        private Task _running = Task.CompletedTask;

        public string? Reason => null;

        public Task StartAsync(CancellationToken cancellationToken)
        {
            _running = Task.WhenAll(Enumerable.Range(0, reading.Concurrency).Select(_ => Task.Run(ReadAsync, CancellationToken.None)));
            return Task.CompletedTask;
        }

        public async Task StopAsync(CancellationToken cancellationToken)
        {
            await using var abort = cancellationToken.Register(_aborting.Cancel);
            await _stopping.CancelAsync();
            await _running;
        }

        public async ValueTask DisposeAsync()
        {
            await _aborting.CancelAsync();
            await _stopping.CancelAsync();
            await _running;
        }

        private async Task ReadAsync()
        {
            try
            {
                while (true)
                {
                    await reading.WaitForOpening!(_stopping.Token);
                    if (broker._queue.Reader.TryRead(out var waiting))
                        await HandleAsync(waiting);
                    else
                        await Task.Delay(LookPause, _stopping.Token);
                }
            }
            catch (OperationCanceledException)
            {
                // stopped
            }
        }

        private async Task HandleAsync(Waiting waiting)
        {
            switch (await reading.Handle(waiting.Delivery, _aborting.Token))
            {
                case DeliveryVerdict.Done:
                    waiting.Acknowledged.SetResult();
                    break;
                case DeliveryVerdict.Again:
                    broker._queue.Writer.TryWrite(
                        waiting with
                        {
                            Delivery = waiting.Delivery with { Failures = waiting.Delivery.Failures + 1 },
                        }
                    );
                    break;
                default:
                    broker._queue.Writer.TryWrite(waiting);
                    break;
            }
        }
    }
}
