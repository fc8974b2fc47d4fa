using Esb.Core.Configuration;
using Esb.Core.Expressions;

namespace Esb.Audit.Recording;

/// <summary>A field to record.</summary>
internal sealed record AuditField(string Name, IMessageValue Value)
{
    /// <summary>Compiles fields; those that are wrong are reported and left out.</summary>
    public static IReadOnlyList<AuditField> Compile(
        IEnumerable<KeyValuePair<string, ValueConfig>> fields,
        IExpressionCompiler expressions,
        ConfigErrors errors
    )
    {
        var compiled = new List<AuditField>();
        foreach (var (name, value) in fields)
        {
            if (expressions.Compile(value, errors) is { } field)
                compiled.Add(new AuditField(name, field));
        }

        return compiled;
    }
}
