using System.Globalization;

namespace Esb.Endpoints.Soap.Receiving;

/// <summary>The status that a process sets for its answer, as SOAP understands it.</summary>
internal static class SoapStatus
{
    /// <summary>True if the value of the property <c>status</c> is a status of an error.</summary>
    public static bool IsFailure(object? status) =>
        status is not null
        && int.TryParse(
            Convert.ToString(status, CultureInfo.InvariantCulture),
            NumberStyles.None,
            CultureInfo.InvariantCulture,
            out var code
        )
        && code is >= 400 and <= 599;
}
