using Esb.Core.Messages;

namespace Esb.Core.Endpoints;

/// <summary>Answer of an endpoint whose process ended at a filter: the message is not wanted, and had no effect (pattern: Message
/// Filter).</summary>
public static class FilteredAnswer
{
    /// <summary>Identified by its reference; its content is never read.</summary>
    public static readonly EsbMessage Instance = new()
    {
        Id = Guid.Empty,
        ConversationId = Guid.Empty,
        CreatedAt = DateTimeOffset.UnixEpoch,
    };

    /// <summary>True if an answer is this instance.</summary>
    public static bool Is(EsbMessage? answer) => ReferenceEquals(answer, Instance);

    /// <summary>Reply to a caller that requested an answer: status 204, without a body.</summary>
    public static EsbMessage ReplyTo(EsbMessage request, TimeProvider time) =>
        request.Reply(MessageBody.Empty, time) with
        {
            Headers = MessageHeaders.Empty.With(EsbHeaders.Status, "204"),
        };
}
