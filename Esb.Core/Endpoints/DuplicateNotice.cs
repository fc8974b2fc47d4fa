using Esb.Core.Messages;

namespace Esb.Core.Endpoints;

/// <summary>What an endpoint says of a message that it recognised as applied before (pattern: Idempotent Receiver).</summary>
/// <param name="Code">Stable: <c>ESB-SQL-DUPLICATE</c>, or <see cref="Conflict"/>.</param>
/// <param name="Reason">One sentence.</param>
public sealed record DuplicateNotice(string Code, string Reason)
{
    /// <summary>The code of a copy whose body is another: the first version stays.</summary>
    public const string Conflict = "ESB-SQL-ONCECONFLICT";

    /// <summary>Whether the copy differs from what was applied.</summary>
    public bool IsConflict => Code == Conflict;

    /// <summary>The notice as the endpoint's answer.</summary>
    public EsbMessage AnswerTo(EsbMessage message, TimeProvider time) =>
        message.Reply(MessageBody.FromText(Reason), time) with { Headers = MessageHeaders.Empty.With(EsbHeaders.Duplicate, Code) };

    /// <summary>Reads an answer; null where it is none of these.</summary>
    public static DuplicateNotice? Read(EsbMessage? answer) =>
        answer?.Headers[EsbHeaders.Duplicate] is { } code ? new DuplicateNotice(code, answer.Body.ReadText()) : null;
}
