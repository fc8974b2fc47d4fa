using System.Collections.Concurrent;
using Esb.Core.Planning;
using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq.Publishing;

/// <summary>A gate per destination: holds publishes back for a moment while the queues behind a destination change. Thread-safe.</summary>
internal sealed class Passages(TimeProvider time)
{
    // A host that asks for longer is mistaken.
    private static readonly TimeSpan LongestHold = TimeSpan.FromSeconds(30);

    private const int MostDestinations = 1_000;

    private readonly ConcurrentDictionary<string, Passage> _passages = new();

    /// <param name="destination">An exchange or a queue.</param>
    /// <param name="publish">The publish that passes the gate.</param>
    public async ValueTask<PublishResult> PassAsync(string destination, Func<ValueTask<PublishResult>> publish)
    {
        var passage = Of(destination);
        await passage.EnterAsync();
        try
        {
            return await publish();
        }
        finally
        {
            passage.Leave();
        }
    }

    public async Task<PublishesHeld> ObeyAsync(HoldPublishes question, CancellationToken cancellationToken)
    {
        var span = question.For < LongestHold ? question.For : LongestHold;
        foreach (var passage in question.Destinations.Take(MostDestinations).Select(Of))
        {
            if (span > TimeSpan.Zero)
                await passage.CloseAsync(span).WaitAsync(cancellationToken);
            else
                passage.Open();
        }

        return new PublishesHeld();
    }

    private Passage Of(string destination) => _passages.GetOrAdd(destination, _ => new Passage(time));
}
