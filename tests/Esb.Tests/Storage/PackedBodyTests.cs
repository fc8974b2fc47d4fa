using System.Security.Cryptography;
using System.Text;
using Esb.Storage.Bodies;
using NUnit.Framework;

namespace Esb.Tests.Storage;

public sealed class PackedBodyTests
{
    [TestCase(0)]
    [TestCase(1)]
    [TestCase(63)]
    [TestCase(64)]
    [TestCase(5_000)]
    [TestCase(4_000_000, Category = "Thorough")]
    public void A_body_comes_back_as_it_was(int length)
    {
        var text = Encoding.UTF8.GetBytes(
            string.Concat(Enumerable.Range(0, length / 7 + 1).Select(number => $"<l>{number % 97:D4}"))[..length]
        );
        var noise = RandomNumberGenerator.GetBytes(length);

        Assert.That(PackedBody.Pack(text).Unpack().ToArray(), Is.EqualTo(text));
        Assert.That(PackedBody.Pack(noise).Unpack().ToArray(), Is.EqualTo(noise));
    }

    [Test]
    public void What_does_not_become_smaller_is_kept_as_it_is()
    {
        var noise = RandomNumberGenerator.GetBytes(5_000);

        Assert.That(PackedBody.Pack(noise), Is.EqualTo(new PackedBody(null, noise)));
    }

    [Test]
    public void Text_becomes_smaller()
    {
        var order = Encoding.UTF8.GetBytes(
            "<order><id>A-1001</id><customer><name>Anna</name><city>Bremen</city></customer><lines><line><article>B-1</article><quantity>1</quantity></line><line><article>B-2</article><quantity>1</quantity></line></lines></order>"
        );

        Assert.That(PackedBody.Pack(order).Bytes.Length, Is.LessThan(order.Length * 7 / 8));
    }

    [Test]
    public void A_way_of_packing_that_is_not_known_is_refused() =>
        Assert.That(() => new PackedBody("zstd", new byte[8]).Unpack(), Throws.TypeOf<InvalidDataException>());
}
