using Esb.Content.Codecs;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>decode</c>.</summary>
internal sealed record DecodeConfig : SettingsRecord
{
    [Setting("How the body is encoded: gzip, deflate (zlib, or without its header), brotli, zip (an archive with one entry) or base64.", Main = true)]
    public required CodecKind Codec { get; init; }

    [Setting("The largest decoded body; a larger one is refused.", Range = "1B..1GiB")]
    public ByteSize MaxSize { get; init; } = ByteSize.MiB(64);

    [Setting("How many times larger the decoded body may be, from 1MiB on.", Range = "1..100000")]
    public int MaxRatio { get; init; } = 100;

    [Setting("Entries of an archive; more are refused.", Range = "1..1000000")]
    public int MaxEntries { get; init; } = 10_000;

    [Setting("The media type of the decoded body; by default that of the message, unless it names an encoding.")]
    public string? ContentType { get; init; }
}

/// <summary>Replaces the body by its decoded form.</summary>
internal sealed class DecodeStep : StepFactory<DecodeConfig>
{
    public override string Kind => "decode";

    protected override StepModel Compile(DecodeConfig settings, StepConfig step, IStepCompiler compiler) =>
        new(step, $"decode({settings.Codec.ToString().ToLowerInvariant()})")
        {
            Traits = new StepTraits { Transforms = true, ReplacesBody = true },
            Bind = _ => (context, _) =>
            {
                context.Message = MessageCodec.Decode(settings.Codec, context.Message, settings.MaxSize, settings.MaxRatio, settings.MaxEntries, settings.ContentType);
                return ValueTask.CompletedTask;
            },
        };
}
