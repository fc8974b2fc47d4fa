using System.Text;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http;

/// <summary>Answers of an endpoint that took a message in.</summary>
internal static class HttpReplies
{
    /// <summary>The message is confirmed, or nobody wanted it: 202 and its id.</summary>
    public static Task AcceptAsync(HttpContext context, IntakeResult result)
    {
        var durable = result.IsDurable ? "" : ""","durable":false""";
        context.Response.StatusCode = StatusCodes.Status202Accepted;
        context.Response.ContentType = "application/json";
        return WriteAsync(context, MessageBody.FromBytes(Encoding.UTF8.GetBytes($$"""{"messageId":"{{result.MessageId}}"{{durable}}}""")));
    }

    /// <summary>The message at the end of the process; 204 where a filter ended it.</summary>
    public static Task ReplyAsync(HttpContext context, IntakeResult result, HeaderRules rules)
    {
        var response = context.Response;
        response.StatusCode = result.Status ?? (result.Reply is null ? StatusCodes.Status204NoContent : StatusCodes.Status200OK);
        if (result.Reply is not { } reply) return Task.CompletedTask;

        foreach (var (name, value) in HttpFields.Outgoing(reply, rules)) response.Headers[name] = value;
        if (!AllowsBody(response.StatusCode)) return Task.CompletedTask;
        response.ContentType = reply.ContentType;
        return WriteAsync(context, reply.Body);
    }

    private static async Task WriteAsync(HttpContext context, MessageBody body)
    {
        context.Response.ContentLength = body.Length;
        if (body.Length != 0) await body.CopyToAsync(context.Response.Body, context.RequestAborted);
    }

    private static bool AllowsBody(int status) => status is not (StatusCodes.Status204NoContent or StatusCodes.Status205ResetContent or StatusCodes.Status304NotModified);
}
