using System.Diagnostics;
using System.Globalization;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Esb.Content.Codecs;
using Esb.Content.Codecs.Secure;
using Esb.Content.Transforms;
using Esb.Core.Configuration;
using Esb.Core.Messages;
using Esb.Core.Parties;
using Esb.Core.Processes;

namespace Esb.Benchmarks;

/// <summary>What work on the content of messages costs in processor time of the process, the collector included: megabytes or messages for
/// each second of it. One line for each kind of work: name, rate, unit. <c>dotnet run -- content-cost [SECONDS]</c></summary>
internal static class ContentCost
{
    private const int SmallBytes = 2_048;
    private const int DeepestLevels = 60; // documents of more than 64 are refused
    private const int WarmUp = 3; // times as long as what counts

    public static void Run(double seconds)
    {
        var duration = TimeSpan.FromSeconds(seconds);
        var schema = new JsonSchemaBenchmark();
        schema.Prepare();
        var formats = new FormatBenchmark();
        Show("JSON Schema", "MB", schema.Bytes / 1e6, schema.Validate, duration);
        Show("JSON read alone", "MB", schema.Bytes / 1e6, () => schema.Reader(), duration);
        Show("CSV parsed", "MB", formats.Csv.Length / 1e6, () => formats.CsvFields(), duration);
        Show("CSV into JSON", "MB", formats.Csv.Length / 1e6, () => formats.CsvToJson(), duration);
        Show("flat file into JSON", "MB", formats.Flat.Length / 1e6, () => formats.FlatToJson(), duration);
        Show("flat file with optional fields into JSON", "MB", formats.Optional.Length / 1e6, () => formats.OptionalToJson(), duration);
        foreach (var fields in new[] { 1, 10, 100, 1_000 })
            Show($"JSON Schema, {fields} fields", "messages", 1, SchemaShapes.OfFields(fields), duration);
        foreach (var levels in new[] { 2, 20, DeepestLevels })
            Show($"JSON Schema, {levels} levels", "messages", 1, SchemaShapes.OfLevels(levels), duration);
        foreach (var bytes in new[] { 1_024, 10_240, 102_400 })
        {
            var maps = new ScriptBenchmark { Bytes = bytes };
            maps.Prepare();
            Show($"XSLT, streamed, {bytes / 1024} KB", "messages", 1, () => maps.Stylesheet(), duration);
            Show($"JavaScript, {bytes / 1024} KB", "messages", 1, () => maps.Script(), duration);
        }

        ShowCodecs(duration);
    }

    private static void ShowCodecs(TimeSpan duration)
    {
        var message = EsbMessage.Create(MessageBody.FromText(new string('x', SmallBytes)), TimeProvider.System) with
        {
            ContentType = "text/plain",
        };
        var entries = new[] { new MessageEntry("a.txt", "text/plain", message.Body) };
        var mime = MimeCodec.Encode(message, entries);
        Show("MIME encoded, 2 parts of 2 KB", "messages", 1, () => MimeCodec.Encode(message, entries), duration);
        Show("MIME decoded, 2 parts of 2 KB", "messages", 1, () => MimeCodec.Decode(mime, new ByteSize(1 << 20), 100), duration);
        using var authority = Issue("CN=an authority", issuer: null);
        using var ours = Issue("CN=us", authority);
        var encoder = new SmimeEncoder(ours, [ours], hasHeaders: true);
        var decoder = new SmimeDecoder(
            ours,
            new SignerTrust([authority], Enumerable.Empty<PartyConfig>(), TimeProvider.System),
            SecurityDemand.Both
        );
        var signs = new SmimeEncoder(ours, [], hasHeaders: true);
        var parties = new PartyConfig
        {
            Name = "us",
            Certificates = [new() { Thumbprint = ours.GetCertHashString(HashAlgorithmName.SHA256) }],
        };
        var (verifies, resolves) = (Verifier([]), Verifier([parties]));
        var (signed, secured) = (signs.Encode(message), encoder.Encode(message));
        var limits = new CodecLimits(1 << 20, MaxRatio: 100, MaxEntries: 100);
        Show("S/MIME signed and encrypted, 2 KB", "messages", 1, () => encoder.Encode(message), duration);
        Show("S/MIME decrypted and verified, 2 KB", "messages", 1, () => decoder.Decode(secured, limits), duration);
        Show("S/MIME signed, 2 KB", "messages", 1, () => signs.Encode(message), duration);
        Show("S/MIME verified, 2 KB", "messages", 1, () => verifies.Decode(signed, limits), duration);
        Show("S/MIME verified, party by certificate, 2 KB", "messages", 1, () => resolves.Decode(signed, limits), duration);

        SmimeDecoder Verifier(IEnumerable<PartyConfig> known) =>
            new(key: null, new SignerTrust([authority], known, TimeProvider.System), SecurityDemand.Signed);
    }

    // The last quarter of the time counts: an interpreter of scripts is compiled for good after two seconds.
    private static void Show(string name, string unit, double amount, Action work, TimeSpan duration)
    {
        Measure(work, WarmUp * duration);
        var (runs, spent) = Measure(work, duration);
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{name}\t{runs * amount / spent.TotalSeconds:0.##}\t{unit}"));
    }

    private static (long Runs, TimeSpan Spent) Measure(Action work, TimeSpan duration)
    {
        using var process = Process.GetCurrentProcess();
        var (began, before, runs) = (Stopwatch.GetTimestamp(), process.TotalProcessorTime, 0L);
        while (Stopwatch.GetElapsedTime(began) < duration)
        {
            work();
            runs++;
        }

        process.Refresh();
        return (runs, process.TotalProcessorTime - before);
    }

    private static X509Certificate2 Issue(string name, X509Certificate2? issuer)
    {
        using var key = RSA.Create(2048);
        var request = new CertificateRequest(name, key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(issuer is null, false, 0, true));
        var now = TimeProvider.System.GetUtcNow();
        var (from, to) = (now.AddDays(-1), now.AddDays(2));
        if (issuer is null)
            return request.CreateSelfSigned(from, to);
        using var made = request.Create(issuer, from, to.AddDays(-1), RandomNumberGenerator.GetBytes(8));
        return made.CopyWithPrivateKey(key);
    }
}
