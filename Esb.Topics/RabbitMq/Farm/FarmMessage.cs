using System.Text.Json.Serialization;

namespace Esb.Topics.RabbitMq.Farm;

/// <summary>A message between hosts: an ordinary typed message of the bus.</summary>
public sealed record FarmMessage
{
    /// <summary>The id of the sending host.</summary>
    public required Guid From { get; init; }

    /// <summary>The name of the sending host, for display.</summary>
    public required string Host { get; init; }

    /// <summary>The kind: <see cref="Heartbeat"/>, <see cref="Goodbye"/>, <see cref="Esb.Topics.Farm.FarmQuestions.AnswerKind"/>, or the
    /// name of a command or question.</summary>
    public required string Kind { get; init; }

    /// <summary>The content, as JSON.</summary>
    public required string Body { get; init; }

    /// <summary>The protocol level of the host: 0 for release 0.1, which finds queues only by names without the configuration's.</summary>
    public int Level { get; init; }

    /// <summary>When it was signed, in milliseconds since 1970; null if it is not signed, as by hosts of release 0.2 and before.</summary>
    public long? Time { get; init; }

    /// <summary>Unique for each signed message.</summary>
    public Guid? Nonce { get; init; }

    /// <summary>HMAC-SHA256 with the farm's key over all the rest, in base64.</summary>
    public string? Mac { get; init; }

    /// <summary>False if a stranger has left out what every host says.</summary>
    [JsonIgnore]
    internal bool IsComplete => Host is not null && Kind is not null && Body is not null;

    /// <summary>The protocol level of this release.</summary>
    internal const int CurrentLevel = 1;

    /// <summary>The host is alive.</summary>
    internal const string Heartbeat = "heartbeat";

    /// <summary>The host stops.</summary>
    internal const string Goodbye = "goodbye";
}
