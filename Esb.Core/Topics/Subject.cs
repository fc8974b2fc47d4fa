using Esb.Core.Configuration.Settings;

namespace Esb.Core.Topics;

/// <summary>A dotted name under which messages are published; its first part is the topic. Up to 255 bytes, the limit of a routing
/// key.</summary>
public sealed record Subject(string Value) : ITextSetting<Subject>
{
    /// <inheritdoc/>
    public static string Code => "ESB-CFG-SUBJECT";

    /// <inheritdoc/>
    public static string Expected => "expected a dotted subject such as \"orders.accepted\", its first part a topic";

    /// <summary>The topic: the first part.</summary>
    public string Topic { get; } = TopicOf(Value);

    (string Section, string Name)? ITextSetting<Subject>.Reference => ("topics", Topic);

    /// <inheritdoc/>
    public static Subject? Parse(string text) => AreParts(text, part => part.All(IsPartCharacter)) ? new Subject(text) : null;

    /// <summary>The topic of a subject that is known to be well-formed.</summary>
    public static string TopicOf(string subject) => subject.IndexOf('.') is var dot and >= 0 ? subject[..dot] : subject;

    /// <inheritdoc/>
    public override string ToString() => Value;

    internal static bool AreParts(string text, Func<string, bool> isPart) =>
        text.Length is > 0 and <= 255 && text.Split('.').All(part => part.Length > 0 && isPart(part));

    internal static bool IsPartCharacter(char c) => char.IsAsciiLetterOrDigit(c) || c is '-' or '_';
}
