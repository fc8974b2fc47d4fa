using Esb.Core.Messages;

namespace Esb.Core.Endpoints;

/// <summary>What an endpoint answers whose process ended at a filter: nobody wants the message, and nothing was done (pattern: Message
/// Filter).</summary>
public static class FilteredAnswer
{
    /// <summary>Known by its reference; nothing of it is read.</summary>
    public static readonly EsbMessage Instance = new() { Id = Guid.Empty, ConversationId = Guid.Empty, CreatedAt = DateTimeOffset.UnixEpoch };

    /// <summary>Whether an answer says so.</summary>
    public static bool Is(EsbMessage? answer) => ReferenceEquals(answer, Instance);

    /// <summary>What whoever asked for an answer gets: status 204, and no body.</summary>
    public static EsbMessage ReplyTo(EsbMessage request, TimeProvider time) =>
        request.Reply(MessageBody.Empty, time) with { Headers = MessageHeaders.Empty.With(EsbHeaders.Status, "204") };
}
