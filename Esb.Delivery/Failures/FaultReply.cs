using System.Text.Json;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Delivery.Failures;

/// <summary>Creates the fault reply to a requester: problem+json (RFC 9457) under the header <see cref="EsbHeaders.Fault"/>.</summary>
internal static class FaultReply
{
    public static EsbMessage Of(EsbMessage request, EsbException failure, TimeProvider time)
    {
        var problem = new
        {
            title = failure.Message,
            status = failure.Status ?? Faults.StatusOf(failure.Kind),
            code = failure.Code,
        };
        var body = MessageBody.FromBytes(JsonSerializer.SerializeToUtf8Bytes(problem));
        return request.Reply(body, time) with
        {
            ContentType = "application/problem+json",
            Headers = MessageHeaders.Empty.With(EsbHeaders.Fault, failure.Code),
        };
    }
}
