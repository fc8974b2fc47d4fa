using System.Net;
using Esb.Core.Messages;

namespace Esb.Endpoints.Http.Sending;

/// <summary>A body that is not in memory, as the content of a request: it is read while it is sent.</summary>
/// <param name="body">The body.</param>
internal sealed class StreamedContent(MessageBody body) : HttpContent
{
    /// <summary>True if a request can be sent again: it is in memory, or can be read from its beginning.</summary>
    public static bool CanRepeat(HttpRequestMessage request) => request.Content is not StreamedContent { CanReopen: false };

    private bool CanReopen => body.CanReopen;

    protected override Task SerializeToStreamAsync(Stream stream, TransportContext? context, CancellationToken cancellationToken) =>
        body.CopyToAsync(stream, cancellationToken);

    protected override Task SerializeToStreamAsync(Stream stream, TransportContext? context) =>
        body.CopyToAsync(stream, CancellationToken.None);

    protected override bool TryComputeLength(out long length)
    {
        length = body.Length ?? 0;
        return body.Length is not null;
    }
}
