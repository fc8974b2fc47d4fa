using System.Security.Cryptography;
using System.Text;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Workflows.Workflows.Compiling;

/// <summary>Business keys: names, and the values of a message that are compared. Immutable.</summary>
/// <param name="values">The values by name; null where one could not be compiled.</param>
internal sealed class MatchedKeys(IReadOnlyList<(string Name, IMessageValue? Value)> values)
{
    private const int LongestValue = 1024;

    /// <summary>No keys.</summary>
    public static readonly MatchedKeys None = new([]);

    private readonly (string Name, IMessageValue? Value)[] _values = [.. values.OrderBy(value => value.Name, StringComparer.Ordinal)];

    /// <summary>The names in their order.</summary>
    public IReadOnlyList<string> Names { get; } = [.. values.Select(value => value.Name).Order(StringComparer.Ordinal)];

    public bool IsWhole => _values.All(value => value.Value is not null);

    public static MatchedKeys Compile(
        IReadOnlyDictionary<string, ValueConfig> values,
        IExpressionCompiler expressions,
        ConfigErrors errors
    ) => new([.. values.Select(value => (value.Key, expressions.Compile(value.Value, errors)))]);

    /// <summary>The values of a message.</summary>
    /// <exception cref="EsbException"><c>ESB-WFL-KEY</c>: one is missing or too long; or the message cannot be read.</exception>
    public IReadOnlyList<KeyValuePair<string, string>> Of(MessageContext context)
    {
        var found = new KeyValuePair<string, string>[_values.Length];
        for (var i = 0; i < found.Length; i++)
        {
            var text = MessageValues.AsText(_values[i].Value!.Evaluate(context));
            if (string.IsNullOrEmpty(text))
                throw new EsbException("ESB-WFL-KEY", $"The message has no value for the key '{_values[i].Name}'.", FaultKind.Invalid);
            if (text.Length > LongestValue)
                throw new EsbException(
                    "ESB-WFL-KEY",
                    $"The value for the key '{_values[i].Name}' is longer than {LongestValue} characters.",
                    FaultKind.Invalid
                );
            found[i] = new(_values[i].Name, text);
        }

        return found;
    }

    /// <summary>Hash of keys of a workflow; the order of the keys is that of their names.</summary>
    public static string Hash(string workflow, IEnumerable<KeyValuePair<string, string>> keys)
    {
        var text = new StringBuilder(workflow);
        foreach (var (name, value) in keys)
            text.Append('\n').Append(name).Append('=').Append(value.Length).Append(':').Append(value);
        return Digest(text.ToString());
    }

    /// <summary>Hash of the wait for the reply to a request.</summary>
    public static string HashOfReply(Guid request) => Digest($"reply\n{request}");

    /// <summary>Hash of a wait for messages with these keys.</summary>
    public static string Hash(IEnumerable<SubjectPattern> subjects, string keys) =>
        Digest($"{string.Join(' ', subjects.Select(subject => subject.Value))}\n{keys}");

    private static string Digest(string text) => Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(text)).AsSpan(0, 16));
}
