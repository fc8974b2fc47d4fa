<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:template match="/customer">
    <Customer xmlns="urn:customers">
      <id><xsl:value-of select="id"/></id>
      <name><xsl:value-of select="name"/></name>
    </Customer>
  </xsl:template>
</xsl:stylesheet>
