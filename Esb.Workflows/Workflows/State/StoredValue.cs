using Esb.Core.Expressions;
using Esb.Core.Messages;

namespace Esb.Workflows.Workflows.State;

/// <summary>A variable or a property within the snapshot of an instance; one of its members is set.</summary>
internal sealed record StoredValue
{
    public string? Text { get; init; }

    public double? Number { get; init; }

    public bool? Flag { get; init; }

    public StoredMessage? Message { get; init; }

    public IReadOnlyList<StoredMessage>? List { get; init; }

    /// <summary>The bytes that it takes in the snapshot, about.</summary>
    public long Size => (Text?.Length ?? 0) + (Message?.Body.Length ?? 0) + (List?.Sum(message => (long)message.Body.Length) ?? 0);

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
