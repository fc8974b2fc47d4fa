using Esb.Content.Codecs;
using Esb.Content.Codecs.Secure;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>encode</c>.</summary>
internal sealed record EncodeConfig : SettingsRecord
{
    [Setting(
        "How the body is to be encoded: gzip, deflate (zlib), brotli, zip (an archive with one entry), base64, mime, smime (S/MIME) "
            + "or pgp (OpenPGP).",
        Main = true
    )]
    public required StepCodec Codec { get; init; }

    [Setting("The name of the entry in a zip archive; body by default.")]
    public ValueConfig? EntryName { get; init; }

    [Setting("smime, pgp: the secret key that signs, as text: in PEM with its certificate, or armored.", Secret = true)]
    public string? Sign { get; init; }

    [Setting("smime, pgp: opens the key.", Secret = true)]
    public string? Passphrase { get; init; }

    [Setting("smime, pgp: files with the certificate or public key of each recipient.", IsPath = true, TakesOne = true)]
    public IReadOnlyList<string> Encrypt { get; init; } = [];

    [Setting(
        "smime: whether the MIME headers stand in the body, as files and mails need it, and not in the content type alone, as HTTP does."
    )]
    public bool Headers { get; init; }

    [Setting("The media type of the encoded body; by default the codec's.")]
    public string? ContentType { get; init; }
}

/// <summary>Replaces the body by its encoded form.</summary>
internal sealed class EncodeStep(SecureCodecs secure) : StepFactory<EncodeConfig>
{
    private const string DefaultName = "body";

    public override string Kind => "encode";

    protected override StepModel Compile(EncodeConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var name = settings.EntryName is null ? null : compiler.Expressions.Compile(settings.EntryName, compiler.Errors);
        Check(settings, compiler.Errors);
        var encode = EncoderOf(settings, name, compiler.Errors);
        return new StepModel(step, $"encode({settings.Codec.Named()})")
        {
            Traits = new StepTraits
            {
                Transforms = true,
                ReplacesBody = true,
                Values = settings.EntryName is null ? [] : [settings.EntryName],
            },
            Bind =
                encode is null || (name is null && settings.EntryName is not null)
                    ? null
                    : _ =>
                        (context, _) =>
                        {
                            var encoded = encode(context);
                            context.Message = settings.ContentType is { } type ? encoded with { ContentType = type } : encoded;
                            return ValueTask.CompletedTask;
                        },
        };
    }

    private Func<MessageContext, EsbMessage>? EncoderOf(EncodeConfig settings, IMessageValue? name, ConfigErrors errors) =>
        settings.Codec switch
        {
            StepCodec.Mime => context => MimeCodec.Encode(context.Message, context.Entries ?? []),
            StepCodec.Smime => Secured(secure.Encoder(SecureFormat.Smime, SecuredBy(settings), settings, errors)),
            StepCodec.Pgp => Secured(secure.Encoder(SecureFormat.Pgp, SecuredBy(settings), settings, errors)),
            _ => context => Plain(settings.Codec.Plain()!.Value, context, name),
        };

    private static Func<MessageContext, EsbMessage>? Secured(Func<EsbMessage, EsbMessage>? encode) =>
        encode is null ? null : context => encode(context.Message);

    private static SecureEncoding SecuredBy(EncodeConfig settings) =>
        new(settings.Sign, settings.Passphrase, settings.Encrypt, settings.Headers);

    private static EsbMessage Plain(CodecKind codec, MessageContext context, IMessageValue? name)
    {
        var entry = name is null ? DefaultName : MessageValues.AsText(name.Evaluate(context)) ?? DefaultName;
        if (!MessageCodec.IsEntryName(entry))
            throw new EsbException("ESB-CODEC-NAME", "The name of the archive's entry leads out of the archive.", FaultKind.Invalid);
        return MessageCodec.Encode(codec, context.Message, entry, contentType: null);
    }

    private static void Check(EncodeConfig settings, ConfigErrors errors)
    {
        if (settings.EntryName is not null && settings.Codec != StepCodec.Zip)
            errors.Add("ESB-CFG-VALUE", settings, "entryName", "only a zip archive has entries");
        if (settings.Headers && settings.Codec != StepCodec.Smime)
            errors.Add("ESB-CFG-VALUE", settings, "headers", "only beside the codec smime");
        if (settings.Codec is StepCodec.Smime or StepCodec.Pgp)
            return;
        foreach (
            var (property, isGiven) in new[]
            {
                ("sign", settings.Sign is not null),
                ("passphrase", settings.Passphrase is not null),
                ("encrypt", settings.Encrypt.Count > 0),
            }
        )
        {
            if (isGiven)
                errors.Add("ESB-CFG-VALUE", settings, property, "only beside the codecs smime and pgp");
        }
    }
}
