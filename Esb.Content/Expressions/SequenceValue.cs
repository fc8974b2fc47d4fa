using System.Globalization;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Content.Expressions;

/// <summary>The number of the message at its endpoint, with leading zeros where a width is given.</summary>
/// <param name="width">The least number of digits, from 1.</param>
internal sealed class SequenceValue(int width) : IMessageValue
{
    /// <summary>The most digits that a number has.</summary>
    public const int MaxWidth = 18;

    public bool ReadsBody => false;

    public object? Evaluate(MessageContext context) =>
        context.Sequence is { } number
            ? number.ToString($"D{width}", CultureInfo.InvariantCulture)
            : throw new EsbException("ESB-EXPR-NOVALUE", $"Message {context.Received.Id} has no {{sequence}} here.", FaultKind.Internal);
}
