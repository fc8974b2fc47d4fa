using Esb.Core.Configuration.Settings;

namespace Esb.Core.Topics;

/// <summary>Pattern of a subscription: a subject in which <c>*</c> stands for one part and <c>#</c> for any number of them; the first part,
/// the topic, is literal.</summary>
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
        Subject.AreParts(text, part => part is "*" or "#" || part.All(Subject.IsPartCharacter)) && text[0] is not ('*' or '#')
            ? new SubjectPattern(text)
            : null;

    /// <summary>True if this pattern matches a message published under the subject, by the rules of an AMQP 0-9-1 topic exchange.</summary>
    public bool Matches(string subject) => Matches(_parts, subject.Split('.'));

    /// <summary>True if this pattern matches everything that another one matches. May be false for a covered pattern if the two differ only
    /// in the position of their <c>#</c>.</summary>
    public bool Covers(SubjectPattern other) => Matches(_parts, other._parts);

    /// <summary>True if there are subjects that both this pattern and another one match.</summary>
    public bool Overlaps(SubjectPattern other)
    {
        var (one, two) = (_parts, other._parts);
        var reached = new bool[one.Length + 1, two.Length + 1]; // beginnings of both that a common subject can have
        reached[0, 0] = true;
        for (var i = 0; i <= one.Length; i++)
        {
            for (var j = 0; j <= two.Length; j++)
            {
                if (!reached[i, j])
                    continue;
                var (first, second) = (i < one.Length ? one[i] : null, j < two.Length ? two[j] : null);
                if (first == "#" || second == "#")
                {
                    reached[Math.Min(i + 1, one.Length), j] = true; // the # ends, or takes the part of the other
                    reached[i, Math.Min(j + 1, two.Length)] = true;
                }
                else if (first is not null && second is not null && (first == "*" || second == "*" || first == second))
                {
                    reached[i + 1, j + 1] = true;
                }
            }
        }

        return reached[one.Length, two.Length];
    }

    /// <inheritdoc/>
    public override string ToString() => Value;

    /// <inheritdoc/>
    public bool Equals(SubjectPattern? other) => other?.Value == Value;

    /// <inheritdoc/>
    public override int GetHashCode() => Value.GetHashCode(StringComparison.Ordinal);

    // Backtracks only to the last #, so that many of them cost no more than their number times the parts.
    private static bool Matches(string[] pattern, string[] subject)
    {
        var (at, part) = (0, 0);
        var (lastHash, triedFrom) = (-1, 0);
        while (part < subject.Length)
        {
            if (at < pattern.Length && pattern[at] == "#")
                (lastHash, triedFrom, at) = (at, part, at + 1);
            else if (at < pattern.Length && ((pattern[at] == "*" && subject[part] != "#") || pattern[at] == subject[part]))
                (at, part) = (at + 1, part + 1);
            else if (lastHash >= 0)
                (at, part, triedFrom) = (lastHash + 1, triedFrom + 1, triedFrom + 1);
            else
                return false;
        }

        return pattern.AsSpan(at).IndexOfAnyExcept("#") < 0;
    }
}
