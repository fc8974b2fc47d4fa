using Esb.Core.Configuration.Settings;

namespace Esb.Core.Topics;

/// <summary>What an endpoint subscribes to: a subject in which <c>*</c> stands for one part and <c>#</c> for any number of them; the first part, the topic, is literal.</summary>
public sealed record SubjectPattern(string Value) : ITextSetting<SubjectPattern>
{
    private readonly string[] _parts = Value.Split('.');

    /// <inheritdoc/>
    public static string Code => "ESB-CFG-SUBJECT";

    /// <inheritdoc/>
    public static string Expected => "expected a pattern such as \"orders.*\" or \"orders.#\", its first part a topic";

    /// <summary>The topic: the first part.</summary>
    public string Topic => _parts[0];

    (string Section, string Name)? ITextSetting<SubjectPattern>.Reference => ("topics", Topic);

    /// <inheritdoc/>
    public static SubjectPattern? Parse(string text) =>
        Subject.AreParts(text, part => part is "*" or "#" || part.All(Subject.IsPartCharacter)) && text[0] is not ('*' or '#') ? new SubjectPattern(text) : null;

    /// <summary>Whether a message published under the subject is for this pattern, as a topic exchange of AMQP 0-9-1 decides it.</summary>
    public bool Matches(string subject) => Matches(_parts, subject.Split('.'));

    /// <inheritdoc/>
    public override string ToString() => Value;

    private static bool Matches(ReadOnlySpan<string> pattern, ReadOnlySpan<string> subject)
    {
        if (pattern.IsEmpty) return subject.IsEmpty;
        if (pattern[0] == "#") return Matches(pattern[1..], subject) || (!subject.IsEmpty && Matches(pattern, subject[1..]));
        return !subject.IsEmpty && (pattern[0] == "*" || pattern[0] == subject[0]) && Matches(pattern[1..], subject[1..]);
    }
}
