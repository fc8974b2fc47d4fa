using Esb.Content.Codecs;
using Esb.Content.Codecs.Secure;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>decode</c>.</summary>
internal sealed record DecodeConfig : SettingsRecord
{
    [Setting(
        "How the body is encoded: gzip, deflate (zlib, or without its header), brotli, zip, base64, mime, smime (S/MIME) or pgp (OpenPGP).",
        Main = true
    )]
    public required StepCodec Codec { get; init; }

    [Setting("The largest decoded body; a larger one is refused.", Range = "1B..1GiB")]
    public ByteSize MaxSize { get; init; } = ByteSize.MiB(64);

    [Setting("How many times larger the decoded body may be, from 1MiB on.", Range = "1..100000")]
    public int MaxRatio { get; init; } = 100;

    [Setting("Entries of an archive, or parts of a MIME body; more are refused.", Range = "1..1000000")]
    public int MaxEntries { get; init; } = 10_000;

    [Setting(
        "Whether all entries of a zip archive are kept for a split with entries; the body is then a JSON list of them. By default "
            + "an archive has one entry, which is the body."
    )]
    public bool Entries { get; init; }

    [Setting("smime, pgp: the secret key that decrypts, as text: in PEM with its certificate, or armored.", Secret = true)]
    public string? Key { get; init; }

    [Setting("smime, pgp: opens the key.", Secret = true)]
    public string? Passphrase { get; init; }

    [Setting(
        "smime: the certificates, in PEM, of the only authorities that may vouch for signers; pgp: the public keys of trusted signers.",
        IsPath = true
    )]
    public string? Trust { get; init; }

    [Setting("smime, pgp: how bodies have to be secured; by default all that key and trust allow.")]
    public SecurityDemand? Require { get; init; }

    [Setting("The media type of the decoded body; by default the message's, unless it names an encoding.")]
    public string? ContentType { get; init; }
}

/// <summary>Replaces the body by its decoded form.</summary>
internal sealed class DecodeStep(SecureCodecs secure) : StepFactory<DecodeConfig>
{
    public override string Kind => "decode";

    protected override StepModel Compile(DecodeConfig settings, StepConfig step, IStepCompiler compiler)
    {
        Check(settings, compiler.Errors);
        var decode = DecoderOf(settings, compiler.Errors);
        return new StepModel(step, $"decode({settings.Codec.Named()})")
        {
            Traits = new StepTraits { Transforms = true, ReplacesBody = true },
            Bind = decode is null
                ? null
                : _ =>
                    (context, _) =>
                    {
                        Take(context, decode(context.Message), settings.ContentType);
                        return ValueTask.CompletedTask;
                    },
        };
    }

    private static void Take(MessageContext context, DecodedMessage decoded, string? contentType)
    {
        context.Entries = decoded.Entries;
        if (decoded.Entries.Count > 0)
            context.SetProperty("attachments", EntryList.TextOf(decoded.Entries));
        if (decoded.Party is { } party)
            context.ProvenParty = party;
        context.Message = decoded.Message with
        {
            ContentType = contentType ?? decoded.Message.ContentType,
            Party = decoded.Party ?? decoded.Message.Party,
        };
    }

    private Func<EsbMessage, DecodedMessage>? DecoderOf(DecodeConfig settings, ConfigErrors errors) =>
        settings.Codec switch
        {
            StepCodec.Mime => message => MimeCodec.Decode(message, settings.MaxSize, settings.MaxEntries),
            StepCodec.Zip when settings.Entries => message =>
                MessageCodec.DecodeEntries(message, settings.MaxSize, settings.MaxRatio, settings.MaxEntries),
            StepCodec.Smime => secure.Decoder(SecureFormat.Smime, Secured(settings), settings, errors),
            StepCodec.Pgp => secure.Decoder(SecureFormat.Pgp, Secured(settings), settings, errors),
            _ => message => new DecodedMessage(
                MessageCodec.Decode(
                    settings.Codec.Plain()!.Value,
                    message,
                    settings.MaxSize,
                    settings.MaxRatio,
                    settings.MaxEntries,
                    settings.ContentType
                ),
                [],
                Party: null
            ),
        };

    private static SecureDecoding Secured(DecodeConfig settings) =>
        new(settings.Key, settings.Passphrase, settings.Trust, settings.Require, settings.MaxSize, settings.MaxRatio, settings.MaxEntries);

    private static void Check(DecodeConfig settings, ConfigErrors errors)
    {
        if (settings.Entries && settings.Codec != StepCodec.Zip)
            errors.Add("ESB-CFG-VALUE", settings, "entries", "only a zip archive has entries; the parts of a MIME body are always kept");
        if (settings.Codec is StepCodec.Smime or StepCodec.Pgp)
            return;
        foreach (
            var (property, isGiven) in new[]
            {
                ("key", settings.Key is not null),
                ("passphrase", settings.Passphrase is not null),
                ("trust", settings.Trust is not null),
                ("require", settings.Require is not null),
            }
        )
        {
            if (isGiven)
                errors.Add("ESB-CFG-VALUE", settings, property, "only beside the codecs smime and pgp");
        }
    }
}
