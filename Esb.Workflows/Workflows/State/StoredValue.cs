using System.Security.Cryptography;
using System.Text.Json;
using System.Text.Json.Serialization;
using Esb.Core.Expressions;
using Esb.Core.Messages;

namespace Esb.Workflows.Workflows.State;

/// <summary>A variable or a property within the snapshot of an instance; one of its members is set.</summary>
internal sealed record StoredValue
{
    /// <summary>A larger value stands outside the snapshot, and is stored once: not again with each checkpoint.</summary>
    public const int LargestWithin = 8 * 1024;

    private LargeValue? _large;

    public string? Text { get; init; }

    public double? Number { get; init; }

    public bool? Flag { get; init; }

    public StoredMessage? Message { get; init; }

    public IReadOnlyList<StoredMessage>? List { get; init; }

    /// <summary>The name of a value that stands outside the snapshot; null once it was read.</summary>
    public string? Outside { get; init; }

    /// <summary>The bytes that it takes in the snapshot, about.</summary>
    public long Size => (Text?.Length ?? 0) + (Message?.Body.Length ?? 0) + (List?.Sum(message => (long)message.Body.Length) ?? 0);

    [JsonIgnore]
    public bool IsLarge => Size > LargestWithin;

    /// <summary>The value as it is stored outside the snapshot.</summary>
    [JsonIgnore]
    public LargeValue Large => _large ??= LargeValue.Of(JsonSerializer.SerializeToUtf8Bytes(this, WorkflowJson.Default.StoredValue));

    /// <summary>The value as the snapshot has it.</summary>
    public StoredValue ToWritten() => IsLarge ? new StoredValue { Outside = Large.Name } : this;

    public static StoredValue Read(LargeValue large)
    {
        var value = JsonSerializer.Deserialize(large.Bytes.Span, WorkflowJson.Default.StoredValue)!;
        value._large = large;
        return value;
    }

    public static StoredValue Of(object value) =>
        value switch
        {
            double number => new StoredValue { Number = number },
            bool flag => new StoredValue { Flag = flag },
            EsbMessage message => new StoredValue { Message = StoredMessage.Of(message) },
            IEnumerable<EsbMessage> messages => new StoredValue { List = [.. messages.Select(StoredMessage.Of)] },
            MessageBody body => new StoredValue { Text = body.ReadText() },
            _ => new StoredValue { Text = MessageValues.AsText(value) ?? "" },
        };

    public object ToValue() =>
        this switch
        {
            { Number: { } number } => number,
            { Flag: { } flag } => flag,
            { Message: { } message } => message.ToMessage(),
            { List: { } list } => (IReadOnlyList<EsbMessage>)[.. list.Select(message => message.ToMessage())],
            _ => Text ?? "",
        };
}

/// <summary>A value that stands outside the snapshots of an instance.</summary>
/// <param name="Name">Follows from its content.</param>
/// <param name="Bytes">The value as JSON.</param>
internal sealed record LargeValue(string Name, ReadOnlyMemory<byte> Bytes)
{
    public static LargeValue Of(byte[] bytes) => new(Convert.ToHexStringLower(SHA256.HashData(bytes).AsSpan(0, 16)), bytes);
}
