using System.Text;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Receiving;

/// <summary>The answers of an endpoint that has accepted a message.</summary>
internal static class HttpReplies
{
    /// <summary>The message is confirmed, or had no subscriber: 202 and its id.</summary>
    public static HttpAnswer Accept(IntakeResult result)
    {
        var durable = result.IsDurable ? "" : ""","durable":false""";
        var body = Encoding.UTF8.GetBytes($$"""{"messageId":"{{result.MessageId}}"{{durable}}}""");
        return new HttpAnswer(StatusCodes.Status202Accepted, "application/json", [], MessageBody.FromBytes(body));
    }

    /// <summary>The message at the end of the process; 204 if a filter ended it.</summary>
    public static HttpAnswer Reply(IntakeResult result, HeaderRules rules)
    {
        var status = result.Status ?? (result.Reply is null ? StatusCodes.Status204NoContent : StatusCodes.Status200OK);
        return result.Reply is { } reply
            ? new HttpAnswer(status, reply.ContentType, HttpFields.Outgoing(reply, rules), AllowsBody(status) ? reply.Body : null)
            : new HttpAnswer(status, null, [], null);
    }

    private static bool AllowsBody(int status) =>
        status is not (StatusCodes.Status204NoContent or StatusCodes.Status205ResetContent or StatusCodes.Status304NotModified);
}
