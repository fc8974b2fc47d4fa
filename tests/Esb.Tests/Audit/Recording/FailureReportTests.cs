using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Tests.Fakes;

namespace Esb.Tests.Audit.Recording;

public sealed class FailureReportTests
{
    [Test]
    public void Address_and_answer_follow_the_sentence()
    {
        var failure = new EsbException("ESB-X", "It failed.", FaultKind.Outside)
        {
            Detail = "http://orders:80: the connection was refused.",
            Answer = Some.Message("{ \"error\":\r\n \"no such customer\" }"),
        };

        Assert.That(
            FailureReport.Of(failure),
            Is.EqualTo("It failed. http://orders:80: the connection was refused. It answered: { \"error\":   \"no such customer\" }")
        );
    }

    [Test]
    public void Long_answer_is_cut_and_an_empty_one_is_not_mentioned()
    {
        var longOne = new EsbException("ESB-X", "It failed.", FaultKind.Outside) { Answer = Some.Message(new string('ä', 5_000)) };
        var empty = new EsbException("ESB-X", "It failed.", FaultKind.Outside) { Answer = Some.Message("") };

        Assert.That(FailureReport.Of(longOne), Does.EndWith("ä…").And.Length.LessThan(240));
        Assert.That(FailureReport.Of(empty), Is.EqualTo("It failed."));
    }

    [Test]
    public void Answer_that_is_no_text_is_told_by_its_size()
    {
        var answer = Some.Message("", contentType: "image/png") with { Body = MessageBody.FromBytes(new byte[20]) };

        Assert.That(
            FailureReport.Of(new EsbException("ESB-X", "It failed.", FaultKind.Outside) { Answer = answer }),
            Is.EqualTo("It failed. It answered: 20 bytes of image/png.")
        );
    }

    [Test]
    public void Masks_apply_to_the_answer()
    {
        MaskedFlow.Follow(new SecretBodies(), Some.Message("a message"));

        Assert.That(
            FailureReport.Of(new EsbException("ESB-X", "It failed.", FaultKind.Outside) { Answer = Some.Message("4111") }),
            Is.EqualTo("It failed. It answered: ****")
        );
    }
}
