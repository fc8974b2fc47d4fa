using Esb.Endpoints.Files;

namespace Esb.Tests.Endpoints.Files;

public sealed class SafeFileNameTests
{
    [TestCase("order.xml")]
    [TestCase("Blue Cafe-A-1001.xml")]
    [TestCase("Müller & Söhne (2).xml")]
    [TestCase("発注.xml")]
    [TestCase("a..b.xml")]
    [TestCase("100%.txt")]
    [TestCase("console.log")]
    [TestCase(".hidden")]
    [TestCase("common.com1")]
    public void Plain_name_is_taken_as_it_is(string name) => Assert.That(SafeFileName.WhatIsWrong(name), Is.Null);

    [TestCase("../order.xml")]
    [TestCase("../../etc/passwd")]
    [TestCase("a/../../b")]
    [TestCase("a/b.xml")]
    [Property("Case", "FIL-01")]
    public void Name_that_leads_to_another_folder_is_refused(string name) =>
        Assert.That(SafeFileName.WhatIsWrong(name), Does.Contain("plain file name"));

    [TestCase("/etc/passwd")]
    [TestCase("C:\\orders\\1.xml")]
    [TestCase("C:order.xml")]
    [TestCase("\\\\server\\share\\order.xml")]
    [TestCase("//server/share/order.xml")]
    [TestCase("order.xml:stream")]
    [Property("Case", "FIL-02")]
    public void Absolute_name_is_refused(string name) => Assert.That(SafeFileName.WhatIsWrong(name), Does.Contain("plain file name"));

    [TestCase("..\\order.xml")]
    [TestCase("..%2forder.xml")]
    [TestCase("%2E%2E%5Corder.xml")]
    [TestCase("a%00.xml")]
    [TestCase("a%252fb.xml")]
    [TestCase("a%c0%afb.xml")]
    [TestCase("a\u2215b.xml")]
    [TestCase("a\uFF0Fb.xml")]
    [TestCase("a\0.xml")]
    [Property("Case", "FIL-03")]
    public void Hidden_separator_is_refused(string name) => Assert.That(SafeFileName.WhatIsWrong(name), Does.Contain("plain file name"));

    [TestCase(".")]
    [TestCase("..")]
    [TestCase("")]
    [TestCase("   ")]
    [TestCase("order.")]
    [TestCase("order ")]
    [TestCase(" order")]
    [Property("Case", "FIL-04")]
    public void Name_of_dots_or_spaces_is_refused(string name) => Assert.That(SafeFileName.WhatIsWrong(name), Is.Not.Null);

    [TestCase("CON")]
    [TestCase("con.xml")]
    [TestCase("NUL.tar.gz")]
    [TestCase("Aux")]
    [TestCase("COM1.txt")]
    [TestCase("LPT9")]
    [TestCase("CONIN$")]
    [Property("Case", "FIL-05")]
    public void Name_of_a_device_is_refused(string name) => Assert.That(SafeFileName.WhatIsWrong(name), Does.Contain("device"));

    [Test, Property("Case", "FIL-06")]
    public void Name_may_have_200_bytes_and_no_more()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(SafeFileName.WhatIsWrong(new string('a', 200)), Is.Null);
            Assert.That(SafeFileName.WhatIsWrong(new string('a', 201)), Does.Contain("200 bytes"));
            Assert.That(SafeFileName.WhatIsWrong(new string('発', 67)), Does.Contain("200 bytes"));
        }
    }

    [TestCase("order\n.xml")]
    [TestCase("order\u001b[2J.xml")]
    [TestCase("order\u007f.xml")]
    [TestCase("order\u202Elmx.exe")]
    [TestCase("order\u2028.xml")]
    [TestCase("or\u200bder.xml")]
    [TestCase("order\uD800.xml")]
    [Property("Case", "FIL-07")]
    public void Characters_that_cannot_be_seen_are_refused(string name) =>
        Assert.That(SafeFileName.WhatIsWrong(name), Does.Contain("plain file name"));

    [Test, Property("Case", "FIL-07")]
    public void Name_is_shown_with_what_cannot_be_seen_escaped() =>
        Assert.That(SafeFileName.Escape("a\nb\u202Ec"), Is.EqualTo("a\\u000Ab\\u202Ec"));

    [Test, Property("Case", "FIL-08")]
    public void Of_two_spellings_that_Unicode_holds_to_be_equal_only_the_composed_one_is_taken()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(SafeFileName.WhatIsWrong("Caf\u00E9.xml"), Is.Null);
            Assert.That(SafeFileName.WhatIsWrong("Cafe\u0301.xml"), Does.Contain("NFC"));
        }
    }
}
