using System.Globalization;
using Esb.Core.Errors;
using Esb.Core.Processes;

namespace Esb.Delivery.Processes;

/// <summary>Reads the status that a process sets for its answer.</summary>
internal static class ProcessStatus
{
    /// <summary>The status; null if the process sets none.</summary>
    /// <exception cref="EsbException"><c>ESB-PROC-STATUS</c>: the value is not a status.</exception>
    public static int? Of(MessageContext context)
    {
        if (context.GetProperty(MessageContext.StatusProperty) is not { } value)
            return null;
        var text = Convert.ToString(value, CultureInfo.InvariantCulture);
        return int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var status) && status is >= 200 and <= 599
            ? status
            : throw new EsbException("ESB-PROC-STATUS", "The process set an invalid HTTP status.", FaultKind.Internal);
    }
}
