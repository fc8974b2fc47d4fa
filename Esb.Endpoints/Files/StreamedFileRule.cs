using Esb.Core.Configuration;
using Esb.Core.Endpoints;

namespace Esb.Endpoints.Files;

/// <summary>Checks <c>transfer</c> and <c>maxBodySize</c> of endpoints that take files.</summary>
internal static class StreamedFileRule
{
    /// <summary>Checks the settings of an endpoint.</summary>
    /// <param name="settings">The endpoint.</param>
    /// <param name="maxBodySize">Its <c>maxBodySize</c>.</param>
    /// <param name="errors">Receives errors.</param>
    public static void Check(InboundEndpointConfig settings, ByteSize? maxBodySize, ConfigErrors errors)
    {
        if (settings is { BodyTransfer: BodyTransfer.Streamed, Process: null, Publish: null } && settings.IsSound("transfer"))
            errors.Add("ESB-CFG-VALUE", settings, "transfer", "expected beside process or publish, which read a file piece by piece");
        if (settings.BodyTransfer == BodyTransfer.Buffered && maxBodySize is not null)
            errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "maxBodySize",
                "expected beside \"transfer\": \"streamed\"; otherwise limits.maxBodySize holds"
            );
    }
}
