using System.Globalization;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Core.Processes;

/// <summary>The HTTP status of an answer: in a process the property <see cref="MessageContext.StatusProperty"/>, on a reply the header
/// <see cref="EsbHeaders.Status"/>.</summary>
public static class ProcessStatus
{
    /// <summary>The status that a process sets for its answer; null if it sets none.</summary>
    /// <exception cref="EsbException"><c>ESB-PROC-STATUS</c>: the value is not a status.</exception>
    public static int? Of(MessageContext context) => Of(context.GetProperty(MessageContext.StatusProperty));

    /// <inheritdoc cref="Of(MessageContext)"/>
    public static int? Of(IReadOnlyDictionary<string, object> properties) =>
        Of(properties.GetValueOrDefault(MessageContext.StatusProperty));

    private static int? Of(object? value)
    {
        if (value is null)
            return null;
        var text = Convert.ToString(value, CultureInfo.InvariantCulture);
        return int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var status) && status is >= 200 and <= 599
            ? status
            : throw new EsbException("ESB-PROC-STATUS", "The process set an invalid HTTP status.", FaultKind.Internal);
    }

    /// <summary>Headers of a reply with its status; without one if it is null.</summary>
    public static MessageHeaders On(MessageHeaders headers, int? status) =>
        status is { } code ? headers.With(EsbHeaders.Status, code.ToString(CultureInfo.InvariantCulture)) : headers;

    /// <summary>Continues a process with a reply, and its status.</summary>
    public static void TakeOver(MessageContext context, EsbMessage reply)
    {
        var status = int.TryParse(reply.Headers[EsbHeaders.Status], NumberStyles.None, CultureInfo.InvariantCulture, out var code)
            ? code
            : (int?)null;
        context.SetProperty(MessageContext.StatusProperty, status is null ? null : (double)status);
        context.Message = reply with { Headers = reply.Headers.Without(EsbHeaders.Status) };
    }
}
