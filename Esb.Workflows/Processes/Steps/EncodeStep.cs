using Esb.Content.Codecs;
using Esb.Core.Configuration.Settings;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>encode</c>.</summary>
internal sealed record EncodeConfig : SettingsRecord
{
    [Setting("How the body is to be encoded: gzip, deflate (zlib), brotli, zip (an archive with one entry) or base64.", Main = true)]
    public required CodecKind Codec { get; init; }

    [Setting("The name of the entry in a zip archive; body by default.")]
    public ValueConfig? EntryName { get; init; }

    [Setting("The media type of the encoded body; by default that of the codec.")]
    public string? ContentType { get; init; }
}

/// <summary>Replaces the body by its encoded form.</summary>
internal sealed class EncodeStep : StepFactory<EncodeConfig>
{
    private const string DefaultName = "body";

    public override string Kind => "encode";

    protected override StepModel Compile(EncodeConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var name = settings.EntryName is null ? null : compiler.Expressions.Compile(settings.EntryName, compiler.Errors);
        if (settings.EntryName is not null && settings.Codec != CodecKind.Zip) compiler.Errors.Add("ESB-CFG-VALUE", settings, "entryName", "only a zip archive has entries");
        return new StepModel(step, $"encode({settings.Codec.ToString().ToLowerInvariant()})")
        {
            Traits = new StepTraits { Transforms = true, ReplacesBody = true, Values = settings.EntryName is null ? [] : [settings.EntryName] },
            Bind = name is null && settings.EntryName is not null ? null : _ => Run,
        };

        ValueTask Run(MessageContext context, CancellationToken cancellationToken)
        {
            var entry = name is null ? DefaultName : MessageValues.AsText(name.Evaluate(context)) ?? DefaultName;
            if (!MessageCodec.IsEntryName(entry)) throw new EsbException("ESB-CODEC-NAME", "The name of the archive's entry leads out of the archive.", FaultKind.Invalid);
            context.Message = MessageCodec.Encode(settings.Codec, context.Message, entry, settings.ContentType);
            return ValueTask.CompletedTask;
        }
    }
}
