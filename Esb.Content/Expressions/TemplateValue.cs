using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Content.Expressions;

/// <summary>A text with places for values; a value that does not exist leaves its place empty.</summary>
internal sealed class TemplateValue(IReadOnlyList<IMessageValue> parts) : IMessageValue
{
    /// <summary>True if it needs the number of the message.</summary>
    public bool ReadsSequence { get; } = parts.Any(part => part is SequenceValue);

    public bool ReadsBody { get; } = parts.Any(part => part.ReadsBody);

    public object? Evaluate(MessageContext context) => string.Concat(parts.Select(part => MessageValues.AsText(part.Evaluate(context))));
}
