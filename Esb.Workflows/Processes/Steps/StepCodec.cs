using Esb.Content.Codecs;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Codecs of the steps <c>decode</c> and <c>encode</c>.</summary>
internal enum StepCodec
{
    /// <inheritdoc cref="CodecKind.Gzip"/>
    Gzip,

    /// <inheritdoc cref="CodecKind.Deflate"/>
    Deflate,

    /// <inheritdoc cref="CodecKind.Brotli"/>
    Brotli,

    /// <inheritdoc cref="CodecKind.Zip"/>
    Zip,

    /// <inheritdoc cref="CodecKind.Base64"/>
    Base64,

    /// <summary>MIME, of one or several parts.</summary>
    Mime,

    /// <summary>S/MIME.</summary>
    Smime,

    /// <summary>OpenPGP.</summary>
    Pgp,
}

/// <summary>Properties of codecs.</summary>
internal static class StepCodecs
{
    /// <summary>The codec of single bodies; null for the others.</summary>
    public static CodecKind? Plain(this StepCodec codec) =>
        codec switch
        {
            StepCodec.Gzip => CodecKind.Gzip,
            StepCodec.Deflate => CodecKind.Deflate,
            StepCodec.Brotli => CodecKind.Brotli,
            StepCodec.Zip => CodecKind.Zip,
            StepCodec.Base64 => CodecKind.Base64,
            _ => null,
        };

    /// <summary>The name in the configuration.</summary>
    public static string Named(this StepCodec codec) => codec.ToString().ToLowerInvariant();
}
