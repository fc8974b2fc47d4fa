using Esb.Core.Messages;

namespace Esb.Core.Endpoints;

/// <summary>Answer of an endpoint to a message that it recognised as applied before (pattern: Idempotent Receiver).</summary>
/// <param name="Code">Stable: <c>ESB-SQL-DUPLICATE</c>, or <see cref="Conflict"/>.</param>
/// <param name="Reason">One sentence.</param>
public sealed record DuplicateNotice(string Code, string Reason)
{
    /// <summary>Code of a duplicate with a different body: the first version is kept.</summary>
    public const string Conflict = "ESB-SQL-ONCECONFLICT";

    /// <summary>True if the duplicate differs from the applied message.</summary>
    public bool IsConflict => Code == Conflict;

    /// <summary>The notice as an answer of the endpoint.</summary>
    public EsbMessage AnswerTo(EsbMessage message, TimeProvider time) =>
        message.Reply(MessageBody.FromText(Reason), time) with
        {
            Headers = MessageHeaders.Empty.With(EsbHeaders.Duplicate, Code),
        };

    /// <summary>Reads the notice from an answer; null if the answer holds none.</summary>
    public static DuplicateNotice? Read(EsbMessage? answer) =>
        answer?.Headers[EsbHeaders.Duplicate] is { } code ? new DuplicateNotice(code, answer.Body.ReadText()) : null;
}
