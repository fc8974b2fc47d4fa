using System.Text;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics.Foreign;

/// <summary>Publishes messages whose header frames are as large as the broker takes them, filled by one value that nests as deep as
/// fits.</summary>
internal static class NestedHeaders
{
    /// <summary>Arrive beside the nested value.</summary>
    public const string Kept = "x-kept";

    private const string Nested = "x-deep";
    private const string Filler = "x-fill";
    private const int LargestFrame = 131_072;
    private const int FrameOverhead = 8;
    private const int HeaderStart = 12 + 2; // class, weight, size of the body; flags
    private const int StackSize = 64 * 1024 * 1024; // the client writes as recursively as it reads

    /// <summary>Properties whose header frame takes <paramref name="room"/> bytes less than the largest.</summary>
    public static BasicProperties Fill(BasicProperties properties, Nesting nesting, int room = 0)
    {
        var taken =
            HeaderStart
            + 4
            + ShortText(properties.MessageId)
            + ShortText(properties.CorrelationId)
            + (properties.IsDeliveryModePresent() ? 1 : 0)
            + Name(Kept)
            + 5
            + 3
            + Name(Nested)
            + Name(Filler)
            + 5;
        var (value, size) = Nest(nesting, LargestFrame - FrameOverhead - taken - room);
        properties.Headers = new Dictionary<string, object?>
        {
            [Kept] = "yes",
            [Nested] = value,
            [Filler] = new byte[LargestFrame - FrameOverhead - taken - room - size],
        };
        return properties;
    }

    /// <summary>Publishes without a confirm, from a thread with a large stack.</summary>
    public static async Task PublishAsync(
        IConnection connection,
        string exchange,
        string routingKey,
        BasicProperties properties,
        string body = "deep"
    )
    {
        await using var channel = await connection.CreateChannelAsync(
            new CreateChannelOptions(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: false)
        ); // which would need a header of its own
        var taken = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        channel.BasicAcksAsync += (_, _) =>
        {
            taken.TrySetResult();
            return Task.CompletedTask;
        };
        channel.ChannelShutdownAsync += (_, shutdown) =>
        {
            taken.TrySetException(new InvalidOperationException(shutdown.ReplyText));
            return Task.CompletedTask;
        };
        var published = new TaskCompletionSource();
        var thread = new Thread(
            () =>
            {
                try
                {
                    channel
                        .BasicPublishAsync(exchange, routingKey, mandatory: false, properties, Encoding.UTF8.GetBytes(body))
                        .AsTask()
                        .GetAwaiter()
                        .GetResult();
                    published.SetResult();
                }
                catch (Exception ex)
                {
                    published.SetException(ex);
                }
            },
            StackSize
        );
        thread.Start();
        await published.Task;
        await taken.Task; // however long the broker reads it
    }

    private static (object? Value, int Size) Nest(Nesting nesting, int room)
    {
        object? value = null;
        var size = 1; // nothing
        for (var level = 0; ; level++)
        {
            var isTable = nesting == Nesting.Tables || (nesting == Nesting.Mixed && level % 2 == 0);
            var more = isTable ? 6 : 5; // the type, the length, and the empty name in a table
            if (size + more > room)
                return (value, size);
            value = isTable ? new Dictionary<string, object?> { [""] = value } : new List<object?> { value };
            size += more;
        }
    }

    private static int Name(string name) => 1 + name.Length;

    private static int ShortText(string? text) => text is null ? 0 : 1 + Encoding.UTF8.GetByteCount(text);
}

/// <summary>What a header value nests.</summary>
public enum Nesting
{
    Arrays,
    Tables,
    Mixed,
}
