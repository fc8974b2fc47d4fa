using System.Collections.Concurrent;
using Esb.Core.Planning;
using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq.Publishing;

/// <summary>Lets publishes to each destination pass, and holds them back for a moment when somebody changes what is behind it. Thread-safe.</summary>
internal sealed class Passages(TimeProvider time)
{
    private readonly ConcurrentDictionary<string, Passage> _passages = new();

    /// <param name="destination">An exchange or a queue.</param>
    /// <param name="publish">What passes.</param>
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
        foreach (var passage in question.Destinations.Select(Of))
        {
            if (question.For > TimeSpan.Zero) await passage.CloseAsync(question.For).WaitAsync(cancellationToken);
            else passage.Open();
        }

        return new PublishesHeld();
    }

    private Passage Of(string destination) => _passages.GetOrAdd(destination, _ => new Passage(time));
}
