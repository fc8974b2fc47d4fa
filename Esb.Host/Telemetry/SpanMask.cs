using System.Diagnostics;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Diagnostics;
using Esb.Core.Messages;
using OpenTelemetry;

namespace Esb.Host.Telemetry;

/// <summary>Removes masked values of the current message from a span before its export. Libraries quote messages, for example a database in
/// a recorded exception.</summary>
/// <remarks>A span ends in the control flow that processes the message. The spans of the bus and of the web server hold only configuration
/// names and ids, except for the header that the server records.</remarks>
internal sealed class SpanMask(Live<IMessageMask> mask) : BaseProcessor<Activity>
{
    private const string UserAgent = "user_agent.original";

    public override void OnEnd(Activity data)
    {
        if (mask.Current.IsEmpty)
            return;
        foreach (ref var tag in data.EnumerateTagObjects())
            tag = Clean(tag);
        foreach (ref var happened in data.EnumerateEvents())
            happened = new ActivityEvent(
                happened.Name,
                happened.Timestamp,
                new ActivityTagsCollection(happened.Tags.Select(tag => Clean(tag)))
            );
        if (data.StatusDescription is { } description)
            data.SetStatus(data.Status, MaskedFlow.Clean(description));
    }

    private KeyValuePair<string, object?> Clean(KeyValuePair<string, object?> tag) =>
        tag.Value is string text && !IsOurs(tag.Key) ? KeyValuePair.Create<string, object?>(tag.Key, Clean(tag.Key, text)) : tag;

    // The web server records this header for every request, even if the endpoint does not copy it into the message.
    private string Clean(string name, string text)
    {
        var clean = MaskedFlow.Clean(text);
        if (name != UserAgent)
            return clean;
        var message = EsbMessage.Create(MessageBody.Empty, TimeProvider.System) with
        {
            Headers = MessageHeaders.From([KeyValuePair.Create("user-agent", clean)]),
        };
        return mask.Current.Apply(message).Secrets.Remove(clean);
    }

    // These tags hold configuration values. A word of the configuration that also occurs in a message is not a secret.
    private static bool IsOurs(string name) =>
        name.StartsWith("messaging.", StringComparison.Ordinal)
        || name.StartsWith("esb.", StringComparison.Ordinal)
        || name is "http.route" or "http.request.method" or EsbTelemetry.Tags.ErrorType;
}
