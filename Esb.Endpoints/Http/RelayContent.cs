using System.Net;

namespace Esb.Endpoints.Http;

/// <summary>The body of a relayed request: read from the caller as it is written to the outside.</summary>
internal sealed class RelayContent(Stream source, long? length, SilenceTimeout silence) : HttpContent
{
    protected override Task SerializeToStreamAsync(Stream stream, TransportContext? context) => RelayCopy.ToOutsideAsync(source, stream, silence);

    protected override Task SerializeToStreamAsync(Stream stream, TransportContext? context, CancellationToken cancellationToken) => RelayCopy.ToOutsideAsync(source, stream, silence);

    protected override bool TryComputeLength(out long computed)
    {
        computed = length ?? 0;
        return length is not null;
    }
}
