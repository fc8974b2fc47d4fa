using Esb.Core.Errors;

namespace Esb.Delivery.Polling;

/// <summary>Says why a source cannot be polled.</summary>
public static class PollingFailure
{
    /// <summary>The code and the detail of a failure: a line for operators.</summary>
    public static string Describe(Exception cause) =>
        cause is EsbException failure ? $"{failure.Code}: {failure.Detail ?? failure.Message}" : cause.Message;
}
