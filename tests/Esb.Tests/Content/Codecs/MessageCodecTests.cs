using System.IO.Compression;
using System.Text;
using Esb.Content.Codecs;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Tests.Content.Codecs;

/// <summary>Encoding and decoding of bodies.</summary>
public sealed class MessageCodecTests
{
    [Test]
    public void What_is_encoded_decodes_to_the_same([Values] CodecKind codec)
    {
        var message = Some.Message("""{ "note": "zwölf" }""") with { ContentType = "application/json" };

        var encoded = MessageCodec.Encode(codec, message, "order.json", null);
        var again = MessageCodec.Encode(codec, message, "order.json", null);
        var decoded = Decode(codec, encoded, contentType: "application/json");

        Assert.That(encoded.Body.ReadText(), Is.Not.EqualTo(message.Body.ReadText()));
        Assert.That(again.Body.Bytes.ToArray(), Is.EqualTo(encoded.Body.Bytes.ToArray()), "a repetition makes the same bytes");
        Assert.That((decoded.Body.ReadText(), decoded.ContentType), Is.EqualTo((message.Body.ReadText(), "application/json")));
    }

    [TestCase("application/gzip", null)]
    [TestCase("application/json", "application/json")]
    public void Media_type_stays_unless_it_names_the_encoding(string before, string? after)
    {
        var encoded = MessageCodec.Encode(CodecKind.Gzip, Some.Message("{}"), "body", before);

        Assert.That(Decode(CodecKind.Gzip, encoded).ContentType, Is.EqualTo(after));
    }

    [Test]
    public void Gzip_of_several_members_is_decoded_whole()
    {
        var (first, second) = (
            MessageCodec.Encode(CodecKind.Gzip, Some.Message("one,"), "", null),
            MessageCodec.Encode(CodecKind.Gzip, Some.Message("two"), "", null)
        );

        Assert.That(
            Decode(CodecKind.Gzip, Of([.. first.Body.Bytes.Span, .. second.Body.Bytes.Span])).Body.ReadText(),
            Is.EqualTo("one,two")
        );
    }

    [Test]
    public void Deflate_without_its_header_is_decoded_too()
    {
        using var made = new MemoryStream();
        using (var stream = new DeflateStream(made, CompressionMode.Compress))
            stream.Write("raw"u8);

        Assert.That(Decode(CodecKind.Deflate, Of(made.ToArray())).Body.ReadText(), Is.EqualTo("raw"));
    }

    [Test]
    public void Base64_is_decoded_over_several_lines() =>
        Assert.That(Decode(CodecKind.Base64, Some.Message("aGFs\r\n bG8=\r\n")).Body.ReadText(), Is.EqualTo("hallo"));

    [Test]
    public void Body_that_is_not_encoded_so_is_refused([Values] CodecKind codec, [Values("", "no!", "{ \"a\": 1 }")] string body)
    {
        Assume.That((codec, body), Is.Not.EqualTo((CodecKind.Base64, ""))); // nothing is the base64 of nothing

        var error = Assert.Throws<EsbException>(() => Decode(codec, Some.Message(body)))!;

        Assert.That((error.Code, error.Kind), Is.EqualTo(("ESB-CODEC-FORMAT", FaultKind.Malformed)));
    }

    [Test]
    public void Body_that_was_cut_is_refused([Values(CodecKind.Gzip, CodecKind.Deflate, CodecKind.Brotli, CodecKind.Zip)] CodecKind codec)
    {
        var whole = MessageCodec.Encode(codec, Some.Message(string.Concat(Enumerable.Range(0, 2_000))), "body", null).Body.Bytes;

        Assert.That(Assert.Throws<EsbException>(() => Decode(codec, Of(whole[..^10].ToArray())))!.Code, Is.EqualTo("ESB-CODEC-FORMAT"));
    }

    [Test]
    public void Archive_whose_content_was_changed_is_refused()
    {
        var bytes = Zip(("a.txt", Enumerable.Repeat((byte)7, 64).ToArray(), CompressionLevel.NoCompression));
        bytes[bytes.AsSpan().IndexOf(new byte[] { 7, 7, 7, 7 })] = 8;

        Assert.That(Assert.Throws<EsbException>(() => Decode(CodecKind.Zip, Of(bytes)))!.Code, Is.EqualTo("ESB-CODEC-FORMAT"));
    }

    [Test]
    public void Body_that_is_much_larger_decoded_is_refused(
        [Values(CodecKind.Gzip, CodecKind.Deflate, CodecKind.Brotli, CodecKind.Zip)] CodecKind codec
    )
    {
        var bomb = MessageCodec.Encode(codec, Of(new byte[8 << 20]), "body", null);

        var byRatio = Assert.Throws<EsbException>(() => Decode(codec, bomb))!;
        var bySize = Assert.Throws<EsbException>(() => MessageCodec.Decode(codec, bomb, ByteSize.MiB(1), int.MaxValue, 10, null))!;

        Assert.That((byRatio.Code, byRatio.Kind, bySize.Code), Is.EqualTo(("ESB-CODEC-LIMIT", FaultKind.TooLarge, "ESB-CODEC-LIMIT")));
        Assert.That(MessageCodec.Decode(codec, bomb, ByteSize.MiB(8), int.MaxValue, 10, null).Body.Length, Is.EqualTo(8 << 20));
    }

    [Test]
    public void Large_base64_is_refused() =>
        Assert.That(
            Assert
                .Throws<EsbException>(() =>
                    MessageCodec.Decode(CodecKind.Base64, Some.Message(new string('A', 4_000)), new ByteSize(2_000), 100, 1, null)
                )!
                .Code,
            Is.EqualTo("ESB-CODEC-LIMIT")
        );

    [TestCase("../evil.txt")]
    [TestCase("a/../../evil.txt")]
    [TestCase("/etc/passwd")]
    [TestCase("..\\evil.txt")]
    [TestCase("C:\\evil.txt")]
    public void Archive_with_a_name_that_leaves_it_is_refused(string name)
    {
        var error = Assert.Throws<EsbException>(() => Decode(CodecKind.Zip, Of(Zip((name, "x"u8.ToArray(), CompressionLevel.Optimal)))))!;

        Assert.That((error.Code, error.Kind), Is.EqualTo(("ESB-CODEC-NAME", FaultKind.Invalid)));
    }

    [Test]
    public void Archive_in_an_archive_stays_packed_and_has_limits_of_its_own()
    {
        var inner = Zip(("bomb", new byte[8 << 20], CompressionLevel.Optimal));
        var outer = Zip(("inner.zip", inner, CompressionLevel.Optimal));

        var decoded = Decode(CodecKind.Zip, Of(outer));

        Assert.That(decoded.Body.Bytes.ToArray(), Is.EqualTo(inner), "one step unpacks one level");
        Assert.That(Assert.Throws<EsbException>(() => Decode(CodecKind.Zip, decoded))!.Code, Is.EqualTo("ESB-CODEC-LIMIT"));
    }

    [Test, Category("Thorough")]
    public void Ten_gigabytes_out_of_little_end_at_the_limit_and_take_no_memory()
    {
        using var packed = new MemoryStream();
        using (var brotli = new BrotliStream(packed, CompressionLevel.Fastest, leaveOpen: true))
        {
            var zeros = new byte[64 << 20];
            for (var written = 0L; written < 10L << 30; written += zeros.Length)
                brotli.Write(zeros);
        }

        var before = GC.GetAllocatedBytesForCurrentThread();
        var error = Assert.Throws<EsbException>(() =>
            MessageCodec.Decode(CodecKind.Brotli, Of(packed.ToArray()), ByteSize.MiB(4), int.MaxValue, 10, null)
        )!;

        Assert.That(error.Code, Is.EqualTo("ESB-CODEC-LIMIT"));
        Assert.That(GC.GetAllocatedBytesForCurrentThread() - before, Is.LessThan(32 << 20), "bytes made on the way to the limit");
    }

    [Test]
    public void Archive_of_several_files_is_refused_and_folders_do_not_count()
    {
        var several = Zip(("a", [1], CompressionLevel.Optimal), ("b", [2], CompressionLevel.Optimal));
        var inFolder = Zip(("folder/", [], CompressionLevel.Optimal), ("folder/a", "x"u8.ToArray(), CompressionLevel.Optimal));

        Assert.That(Assert.Throws<EsbException>(() => Decode(CodecKind.Zip, Of(several)))!.Code, Is.EqualTo("ESB-CODEC-ENTRIES"));
        Assert.That(
            Assert.Throws<EsbException>(() => MessageCodec.Decode(CodecKind.Zip, Of(several), ByteSize.MiB(1), 100, 1, null))!.Code,
            Is.EqualTo("ESB-CODEC-LIMIT")
        );
        Assert.That(Decode(CodecKind.Zip, Of(inFolder)).Body.ReadText(), Is.EqualTo("x"));
    }

    private static EsbMessage Decode(CodecKind codec, EsbMessage message, string? contentType = null) =>
        MessageCodec.Decode(codec, message, ByteSize.MiB(64), 100, 10_000, contentType);

    private static EsbMessage Of(byte[] body) => Some.Message("") with { Body = MessageBody.FromBytes(body) };

    private static byte[] Zip(params (string Name, byte[] Body, CompressionLevel Level)[] entries)
    {
        using var made = new MemoryStream();
        using (var archive = new ZipArchive(made, ZipArchiveMode.Create, leaveOpen: true, Encoding.UTF8))
        {
            foreach (var (name, body, level) in entries)
            {
                using var entry = archive.CreateEntry(name, level).Open();
                entry.Write(body);
            }
        }

        return made.ToArray();
    }
}
